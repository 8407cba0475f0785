export type Sides = Readonly<Record<'left' | 'right' | 'top' | 'bottom', number>>;

/** So near above a box are the words of its band. */
const NEAR_PX = 24;
const CLEAR_PX = 12;

/** Where a line comes down on a box: in its middle or, where words stand above that, beside them. */
export function besideTitle(box: Sides, titles: readonly Sides[]): number {
  const middle = (box.left + box.right) / 2;
  const above = titles.find(
    ({ left, right, bottom }) =>
      bottom <= box.top && box.top - bottom < NEAR_PX && left <= middle && middle <= right + CLEAR_PX,
  );
  return above ? Math.min(above.right + CLEAR_PX, box.right - CLEAR_PX) : middle;
}
