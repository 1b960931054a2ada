# brew install --HEAD ./packaging/gh-loop.rb
class GhLoop < Formula
  desc "One record says which tmux session each GitHub event belongs to"
  homepage "https://github.com/gh-loop/gh-loop"
  license "MIT"
  head "https://github.com/gh-loop/gh-loop.git", branch: "main"

  depends_on "go" => :build
  depends_on "tmux"

  def install
    ldflags = "-s -w -X github.com/gh-loop/gh-loop/internal/cli.Version=#{version}"
    system "go", "build", *std_go_args(ldflags: ldflags), "./cmd/gh-loop"
    (man1/"gh-loop.1").write Utils.safe_popen_read(bin/"gh-loop", "man")
    generate_completions_from_executable(bin/"gh-loop", "completion")
    pkgshare.install "gh-loop.tmux", "plugin", "tmux.conf.d"
  end

  def caveats
    <<~EOS
      For the keys in tmux, at the end of tmux.conf:
        run-shell 'gh-loop tmux load'
    EOS
  end

  test do
    ENV["GH_LOOP_STATE_DIR"] = testpath/"state"
    assert_equal "[]\n", shell_output("#{bin}/gh-loop list --json ref")
  end
end
