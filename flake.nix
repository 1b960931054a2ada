{
  description = "One record says which tmux session each GitHub event belongs to";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";
  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = f: nixpkgs.lib.genAttrs systems (system: f nixpkgs.legacyPackages.${system});
      version = self.shortRev or "dev";
    in
    {
      packages = each (pkgs: {
        default = pkgs.buildGoModule {
          pname = "gh-loop";
          inherit version;
          src = self;
          # When the modules change, nix build says the new one.
          vendorHash = "sha256-ACtO4XmS3KdFPc2QcAJ4kP1tdHJVlMcbkE+NGw+fcWI=";
          subPackages = [ "cmd/gh-loop" ];
          env.CGO_ENABLED = 0;
          doCheck = false; # the tests need a tmux of their own: ./install.sh --test
          ldflags = [ "-s" "-w" "-X github.com/gh-loop/gh-loop/internal/cli.Version=${version}" ];
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            $out/bin/gh-loop man > gh-loop.1
            installManPage gh-loop.1
            for sh in bash zsh fish; do $out/bin/gh-loop completion $sh > gh-loop.$sh; done
            installShellCompletion gh-loop.{bash,zsh,fish}
            mkdir -p $out/share/tmux-plugins/gh-loop
            cp -r gh-loop.tmux plugin tmux.conf.d $out/share/tmux-plugins/gh-loop/
          '';
          meta = {
            description = "One record says which tmux session each GitHub event belongs to";
            license = pkgs.lib.licenses.mit;
            mainProgram = "gh-loop";
          };
        };
      });
      devShells = each (pkgs: { default = pkgs.mkShell { packages = [ pkgs.go pkgs.tmux pkgs.git pkgs.jq ]; }; });
    };
}
