/**
 * The passwords that are tried first. Lists of leaked passwords of ten characters and more are mostly the same few hundred
 * words with digits, years and signs around them, doubled, or with letters replaced by digits; rows of the keyboard;
 * sequences; and repetitions. So this is a list of stems, and a comparison that takes off what people add to them.
 */
export function isCommonPassword(password: string): boolean {
  const text = password.toLowerCase();
  if (new Set(text).size < distinctLeast) return true;
  if (isRun(text) || isRepeated(text)) return true;
  return spellings(text)
    .filter((letters) => letters.length * 2 >= text.length) // two letters among eight digits say nothing
    .some((letters) => stems.has(letters) || stems.has(halved(letters)) || isTwoStems(letters));
}

/** `aaaaaaaaaa`, `1212121212`, `1112223334`. */
const distinctLeast = 5;

const rows = [
  ...["abcdefghijklmnopqrstuvwxyz", "01234567890123456789", "qwertyuiopasdfghjklzxcvbnm", "qwertzuiopasdfghjklyxcvbnm"],
  ...["azertyuiopqsdfghjklmwxcvbn", "1q2w3e4r5t6y7u8i9o0p", "q1w2e3r4t5y6u7i8o9p0", "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik"],
  ...[
    "qazwsxedcrfvtgbyhnujmikolp",
    "zaq12wsxcde34rfvbgt56yhn",
    "!@#$%^&*()_+",
    "asdfghjkl;'zxcvbnm,./",
    "zxcvbnm,./asdfghjkl",
  ],
  ...[
    "1a2b3c4d5e6f7g8h9i0j",
    "a1b2c3d4e5f6g7h8i9j0",
    "qweasdzxc123rtyfghvbn",
    "qwe123asd456zxc789",
    "123qweasdzxc",
    "741852963",
    "159753258456",
  ],
];
const reversed = (text: string): string => [...text].reverse().join("");

/** Parts of rows of the keyboard, at most three of them: `qwertyuiop`, `1234567890`, `asdf1234qwer`. */
function isRun(text: string): boolean {
  let rest = text;
  for (let parts = 0; parts < 3 && rest !== ""; parts++) {
    const length = longestRun(rest);
    if (length < runLeast) return rest.length <= 2 && parts > 0;
    rest = rest.slice(length);
  }
  return rest.length <= 2;
}

const runLeast = 3;
const allRows = rows.flatMap((row) => [row, reversed(row)]);

function longestRun(text: string): number {
  for (let length = Math.min(text.length, 30); length >= runLeast; length--) {
    const part = text.slice(0, length);
    if (allRows.some((row) => row.includes(part))) return length;
  }
  return 0;
}

/** The same few characters over and over: `abcabcabcabc`. */
function isRepeated(text: string): boolean {
  for (let length = 1; length <= 4; length++) {
    const part = text.slice(0, length);
    if (part.repeat(Math.ceil(text.length / length)).slice(0, text.length) === text) return true;
  }
  return false;
}

const halved = (text: string): string => {
  const half = text.slice(0, text.length / 2);
  return half.repeat(2) === text ? half : text;
};

function isTwoStems(letters: string): boolean {
  if (letters.length > 24) return false;
  for (let at = 3; at <= letters.length - 2; at++) {
    if (stems.has(letters.slice(0, at)) && stems.has(letters.slice(at))) return true;
  }
  return false;
}

const digitsForLetters: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "8": "b",
  "@": "a",
  $: "s",
  "!": "i",
  "+": "t",
};

/** Its letters without what is around and between them; with `1` as `i` and as `l`. */
function spellings(text: string): string[] {
  const around = coreOf(text, /[a-z@$]/);
  const letters = (from: string) => from.replaceAll(/[^a-z]/g, "");
  const read = (from: string, one: string) =>
    letters(from.replaceAll(/[0134578@$!+]/g, (sign) => (sign === "1" ? one : (digitsForLetters[sign] ?? ""))));
  return [letters(text), ...[around, text].flatMap((from) => [read(from, "i"), read(from, "l")])];
}

const stems = new Set(
  `password passwort passwd passw pass motdepasse contrasena senha parola wachtwoord haslo heslo salasana lozinka
  welcome willkommen bienvenue bienvenido benvenuto hello hallo hola bonjour letmein letme openup opensesame sesame
  changeme changeit changethis change default secret secreto geheim private privat unknown temp temporary test testing tester
  tester demo sample example guest user username admin administrator root toor superuser sysadmin system login signin logon
  access account master owner manager server service support office company business internet computer laptop desktop
  windows linux ubuntu debian apple google facebook instagram twitter youtube whatsapp amazon netflix microsoft samsung
  iphone android nokia oracle mysql postgres redis docker kubernetes quicklink shortlink
  iloveyou loveyou iloveu ilove loveme lovely love lover mylove truelove forever always babygirl babyboy baby angel angels princess prince
  princesa queen king sweetheart sweety sweetie honey darling beautiful gorgeous pretty sunshine moonlight starlight rainbow
  butterfly flower flowers sunflower chocolate cookie cookies coffee cheese banana orange strawberry cherry pepper ginger
  dragon monkey tiger lion eagle falcon panther dolphin horse kitten puppy chicken elephant penguin snoopy scooby
  football baseball basketball volleyball soccer hockey tennis golf golfer cricket rugby softball skateboard wrestling boxing
  superman batman spiderman ironman wolverine avengers hulk thor joker starwars startrek skywalker yoda matrix pokemon pikachu
  naruto minecraft fortnite roblox warcraft zelda mario nintendo playstation xbox counterstrike halo diablo
  shadow hunter ranger warrior killer slayer wizard merlin phoenix samurai ninja legend legendary destiny champion winner
  liverpool chelsea arsenal manchester united barcelona realmadrid juventus bayern dortmund celtic rangers lakers yankees
  cowboys steelers eagles patriots packers redsox
  michael michelle jennifer jessica ashley amanda daniel david matthew joshua andrew anthony christopher robert william
  charlie thomas george jordan taylor jackson nicole samantha elizabeth stephanie victoria alexander alexandra benjamin
  jonathan nicholas patrick richard steven maria martin sophie hannah maggie bailey buddy lucky rocky max molly
  summer winter spring autumn fall sommer monday tuesday wednesday thursday friday saturday sunday january february march
  april june july august september october november december london paris berlin newyork america american england
  australia canada germany deutschland france italia espana brasil mexico india china russia jesus jesuschrist christ
  godisgood blessed faith heaven trustno trustnoone trustme nothing something whatever anything everything nopassword
  freedom liberty peace power money dollar million millionaire diamond silver golden platinum crystal
  mustang ferrari porsche corvette mercedes harley yamaha honda toyota
  metallica nirvana eminem beatles slipknot greenday blink guitar music rockstar rockyou dance dancer
  qwerty qwertz azerty qwert asdf asdfgh asdfghjkl zxcvbn zxcvbnm qazwsx qwe asd zxc abc abcd abcde abcdef abcdefg aaa xyz
  correcthorsebatterystaple thequickbrownfox loremipsum supersecret topsecret verysecret mypassword yourpassword thepassword
  ourpassword newpassword oldpassword password goodpassword strongpassword securepassword safepassword myaccount mysecret
  fuckyou fuckoff fuckme asshole bitch bullshit biteme sexy sexsex hardcore
  my the your our new old is me you and first last one two three best super mega ultra big cool hot`
    .split(/\s+/)
    .filter((word) => word !== ""),
);

/** Without what stands before the first and after the last of these characters. */
export function coreOf(text: string, kept: RegExp): string {
  const letters = [...text];
  const first = letters.findIndex((letter) => kept.test(letter));
  return first === -1 ? "" : letters.slice(first, letters.findLastIndex((letter) => kept.test(letter)) + 1).join("");
}
