const NAME = /^obsdst-([0-9a-f]{8})$/;

/** What paths and replication rules name a remote endpoint by. */
export function destinationName(id: number): string {
  return `obsdst-${id.toString(16).padStart(8, '0')}`;
}

export function destinationId(name: string): number | undefined {
  const [, digits] = NAME.exec(name) ?? [];
  return digits === undefined ? undefined : Number.parseInt(digits, 16);
}
