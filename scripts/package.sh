#!/usr/bin/env bash
# Builds a release with its man pages and completions, as target/dist/prof-VERSION-TARGET.tar.gz, and as a Debian
# package too where cargo-deb is installed (cargo install cargo-deb).
#
#   scripts/package.sh                               for this machine
#   scripts/package.sh x86_64-unknown-linux-musl     static, for any Linux
#
# Man pages and completions come from the program itself, so the target has to run on this machine.
set -euo pipefail
cd "$(dirname "$0")/.."

host=$(rustc -vV | sed -n 's/^host: //p')
target=${1:-$host}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)

# Without --target a build for this machine is the usual one, which may be there already.
for_target=()
program=target/release/prof
if [[ $target != "$host" ]]; then
  for_target=(--target "$target")
  program=target/$target/release/prof
fi
cargo build --release --locked "${for_target[@]}"
case $target in *windows*) program=$program.exe ;; esac

# The same place for every target: the list of assets in Cargo.toml names it.
assets=target/assets
rm -rf "$assets"
mkdir -p "$assets"
"$program" man --output "$assets/man"
for shell in bash zsh fish elvish powershell; do
  "$program" completions "$shell" > "$assets/prof.$shell"
done

name=prof-$version-$target
dist=target/dist/$name
rm -rf "$dist"
mkdir -p "$dist/completions"
cp "$program" README.md CHANGELOG.md LICENSE LICENSE-MIT LICENSE-APACHE "$dist"
cp -r "$assets/man" docs "$dist"
cp "$assets"/prof.* "$dist/completions"
tar -C target/dist -czf "target/dist/$name.tar.gz" "$name"
echo "target/dist/$name.tar.gz"

if [[ $target == *linux* ]] && cargo deb --version > /dev/null 2>&1; then
  cargo deb --no-build --locked "${for_target[@]}" --output target/dist
fi
