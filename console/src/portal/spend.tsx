/** Spend by month, array and kind: filled in from the portal's summary. */
export function Spend() {
  return null;
}
