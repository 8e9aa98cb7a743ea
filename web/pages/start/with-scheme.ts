/** "example.com/menu" is an address to people: https is added where a scheme is missing. The API checks the rest. */
export function withScheme(text: string): string {
  const given = text.trim();
  const hasScheme = /^[a-z][a-z\d+.-]*:(?!\d)/i.test(given);
  const looksLikeHost = /^[^\s/?#@]+\.[^\s/?#@]+(?:[/?#]|$)/.test(given);
  return !hasScheme && looksLikeHost ? `https://${given}` : given;
}
