# For a tap: a repository OWNER/homebrew-tap, as Formula/prof-cli.rb. OWNER and the checksum are filled in when a version is
# released (docs/releasing.md).
class ProfCli < Formula
  desc "Profile analyzer for the terminal, pictures and CI"
  homepage "https://github.com/OWNER/prof"
  url "https://github.com/OWNER/prof/archive/refs/tags/v0.2.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args
    generate_completions_from_executable(bin/"prof", "completions")
    system bin/"prof", "man", "--output", buildpath/"man"
    man1.install Dir["man/*.1"]
  end

  test do
    (testpath/"cpu.folded").write "main;parse 3\nmain;print 1\n"
    assert_match "parse", shell_output("#{bin}/prof top cpu.folded")
  end
end
