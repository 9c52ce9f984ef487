{
  description = "Profile analyzer for the terminal, pictures and CI";

  # Rust 1.95 or newer.
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs = { self, nixpkgs }:
    let
      inherit (nixpkgs) lib;
      crate = (lib.importTOML ./Cargo.toml).package;
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      forEachSystem = build: lib.genAttrs systems (system: build nixpkgs.legacyPackages.${system});
    in
    {
      packages = forEachSystem (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = crate.name;
          inherit (crate) version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          # Many tests run other programs, such as a browser.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = lib.optionalString (pkgs.stdenv.buildPlatform.canExecute pkgs.stdenv.hostPlatform) ''
            $out/bin/prof man --output man
            installManPage man/*.1
            for shell in bash fish zsh; do
              $out/bin/prof completions $shell > completion.$shell
            done
            installShellCompletion --cmd prof completion.{bash,fish,zsh}
          '';
          meta = {
            inherit (crate) description;
            license = with lib.licenses; [ mit asl20 ];
            mainProgram = "prof";
          };
        };
      });
    };
}
