/** The library's errors name options of its constructors; here there are variables and flags. */
export function inFlags(message: string): string {
  return message
    .replace(/,? or (?:pass )?the option apiKey\b/g, "")
    .replace(/\bthe option apiKey\b/g, "the key")
    .replace(/, or raise timeoutMs\b/g, "")
    .replace(/((?:Check|and|there,)) baseURL\b/g, "$1 --base-url")
    .replace(/the options of the provider/g, "--base-url");
}
