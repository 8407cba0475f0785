/** How records spell a switch. */
export function isYes(value: string): boolean {
  return value === 'YES';
}
