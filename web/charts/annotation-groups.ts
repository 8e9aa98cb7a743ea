/** Annotations that are drawn as one, because their labels would cover each other. */
export interface AnnotationGroup<One> {
  readonly places: readonly number[];
  readonly members: readonly One[];
  readonly text: string;
  /** The label's left edge and width in pixels. */
  readonly left: number;
  readonly width: number;
}

interface Placed<One> {
  readonly place: number;
  readonly one: One;
  readonly text: string;
}

const letterPixels = 6;
const paddingPixels = 16;
const gapPixels = 4;
const lettersMost = 26;

/** From left to right; labels stay inside of the chart. */
export function annotationGroups<One>(
  annotations: readonly Placed<One>[],
  x: (place: number) => number,
  chartWidth: number,
  countText: (count: number) => string,
): AnnotationGroup<One>[] {
  const groups: AnnotationGroup<One>[] = [];
  for (const { place, one, text } of annotations.toSorted((a, b) => a.place - b.place)) {
    let next = labelled([place], [one], text);
    // A merged label is wider, so it may reach the one before it.
    for (
      let last = groups.at(-1);
      last !== undefined && next.left < last.left + last.width + gapPixels;
      last = groups.at(-1)
    ) {
      groups.pop();
      const members = [...last.members, ...next.members];
      next = labelled([...last.places, ...next.places], members, countText(members.length));
    }
    groups.push(next);
  }
  return groups;

  function labelled(places: readonly number[], members: readonly One[], text: string): AnnotationGroup<One> {
    const shown = text.length > lettersMost ? `${text.slice(0, lettersMost - 1)}…` : text;
    const width = shown.length * letterPixels + paddingPixels;
    const middle = (x(places[0] ?? 0) + x(places.at(-1) ?? 0)) / 2;
    const left = Math.max(0, Math.min(chartWidth - width, middle - width / 2));
    return { places, members, text: shown, left, width };
  }
}
