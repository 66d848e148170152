class MintmarkClient < Formula
  desc "Short-lived credentials from a Mintmark broker"
  homepage "@HOMEPAGE@"
  url "@URL@"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "jq"
  uses_from_macos "curl"
  uses_from_macos "python", since: :catalina

  def install
    bin.install Dir["bin/*"]
    bash_completion.install "completions/bash" => "mintmark-client"
    zsh_completion.install "completions/zsh" => "_mintmark_client"
    fish_completion.install "completions/fish" => "mintmark-client.fish"
  end

  test do
    assert_equal "mintmark-client #{version}", shell_output("#{bin}/mintmark-client --version").strip
  end
end
