/**
 * Text as it may be shown on a terminal. What strangers wrote, into a report or a file, could otherwise move the cursor,
 * overwrite a line or turn its reading order around, and so show the operator what is not there. Such characters are
 * shown by their numbers instead: `\u001b`.
 */
export const printable = (text: string): string => text.toWellFormed().replace(commanding, asNumber);

/** The same for a text of several lines that we laid out ourselves: its line breaks and tabs stay. */
export const printableLines = (text: string): string => text.toWellFormed().replace(commandingInLines, asNumber);

// Controls of both kinds, line and paragraph separators, and all that changes the direction of what follows.
const commanding = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const commandingInLines = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const asNumber = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
