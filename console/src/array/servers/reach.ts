import { isShare, type Server, type Volume } from '../records.ts';

/** What a server is known by, and so what it can be given. */
export type Known = Pick<Server, 'display_name' | 'iqn' | 'iscsi_ip'>;
type Kind = Pick<Volume, 'data_type'>;

/** In place of an address that was not given; the array's refusals say the same. */
export const NO_ADDRESS = 'no address';

/** Shares are mounted by address; a disk is reached by the name of an initiator, or by any initiator at an address. */
export function canTake({ iqn, iscsi_ip: address }: Known, volume: Kind): boolean {
  return address !== null || (iqn !== null && !isShare(volume));
}

/** Names those that cannot take a volume, and says why; undefined where all can. */
export function cannotTakeWords(servers: readonly Known[], volume: Kind): string | undefined {
  const names = servers.filter((one) => !canTake(one, volume)).map(({ display_name: name }) => name);
  if (names.length === 0) return undefined;
  const [subject, them] = [names.join(', '), names.length === 1 ? 'it' : 'them'];
  const has = names.length === 1 ? 'has' : 'have';
  const why = isShare(volume)
    ? `${has} ${NO_ADDRESS}, and shares are mounted by address`
    : `${has} neither an initiator name nor an address`;
  return `Not offered: ${subject} ${why}. Give ${them} one with “Change” on the page of the server.`;
}

/** A server of a choice: what it is known by for such a volume. */
export function reachWords({ iqn, iscsi_ip: address }: Known, volume: Kind): string {
  if (isShare(volume)) return address ?? NO_ADDRESS;
  return iqn ?? `any initiator at ${address ?? NO_ADDRESS}`;
}

/** Those of the servers to offer, and which is chosen already: one that is alone. */
export function offeredFor<S extends Known>(
  servers: readonly S[],
  volume: Kind,
): { readonly able: readonly S[]; readonly chosen: S | undefined } {
  const able = servers.filter((one) => canTake(one, volume));
  const [only] = able;
  // A server without an initiator name may be meant for shares alone: it is offered, not chosen.
  const isChosen = able.length === 1 && (isShare(volume) || only?.iqn !== null);
  return { able, chosen: isChosen ? only : undefined };
}
