/**
 * Text that is safe to show on a terminal. Text from strangers, in a report or a file, could otherwise move the cursor,
 * overwrite a line or reverse the reading order, and show the operator something false. Such characters are escaped:
 * `\u001b`.
 */
export const printable = (text: string): string => text.toWellFormed().replace(commanding, asNumber);

/** The same for several lines that we formatted ourselves: line breaks and tabs stay. */
export const printableLines = (text: string): string => text.toWellFormed().replace(commandingInLines, asNumber);

// Both kinds of control characters, line and paragraph separators, and everything that changes the text direction.
const commanding = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const commandingInLines = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const asNumber = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
