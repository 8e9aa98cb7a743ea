/**
 * A text as a number below 2^53, and never 0. Roll-ups are added up by these numbers: a report has a hundred thousand values to
 * add, and a few hundred names to show.
 *
 * Stored in roll-ups, so it never changes. Two of 20,000 values have the same number once in 45 million cases. Visitors may look for such
 * a pair, and gain nothing: who can send the one value can send the other.
 */
export function valueKey(text: string): number {
  let [a, b] = [0x9e3779b1 ^ text.length, 0x85ebca6b];
  for (let place = 0; place < text.length; place++) {
    const code = text.charCodeAt(place);
    a = Math.imul(a ^ code, 0xc2b2ae3d);
    b = Math.imul(((b << 13) | (b >>> 19)) ^ code, 0x27d4eb2f);
  }
  a = mixed(a ^ (b >>> 15));
  b = mixed(b ^ a);
  const key = (b & highMask) * 2 ** 32 + (a >>> 0);
  return key === 0 ? 1 : key;
}

const highMask = 0x1fffff;

function mixed(number: number): number {
  const half = Math.imul(number ^ (number >>> 16), 0x7feb352d);
  const whole = Math.imul(half ^ (half >>> 15), 0x846ca68b);
  return whole ^ (whole >>> 16);
}
