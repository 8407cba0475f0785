export interface Limits {
  /** Open sockets. */
  connectionsMax: number;
  /** Requests of one connection under way; further ones are not read from the wire. */
  requestsPerConnectionMax: number;
  /** Bytes of requests under way and of replies not taken, on all connections; beyond that no connection is read from. */
  requestBytesMax: number;
  /** Unsent bytes at which a client that does not read its replies is not read from any more. */
  unsentBytesMax: number;
  /** Data of one READ or WRITE. */
  transferBytesMax: number;
  /** Data of one READDIR. */
  directoryBytesMax: number;
  /** A request must be complete so long after its first byte. */
  requestTimeoutMs: number;
  /** A client that took nothing of its replies for so long is dropped. */
  replyTimeoutMs: number;
  /** Replies kept for requests that may be sent again. */
  replayEntriesMax: number;
  replayBytesMax: number;
  /** Operations in one compound. */
  compoundOperationsMax: number;
  /** Clients of version 4 and of the lock manager. */
  clientsMax: number;
  sessionsPerClientMax: number;
  slotsPerSessionMax: number;
  /** A reply that a session keeps for a retry. */
  cachedReplyBytesMax: number;
  /** Replies that all sessions keep. */
  cachedRepliesBytesMax: number;
  /** Opens, and byte-range locks, of one client. */
  opensPerClientMax: number;
  locksPerClientMax: number;
  /** Requests for a lock that wait, of one client. */
  waitingLocksPerClientMax: number;
  mountEntriesMax: number;
  /** A client of version 4 that was silent for so long loses its opens and locks. */
  leaseMs: number;
  /** How long after a restart only locks from before it are given. */
  graceMs: number;
  /** How long `close` waits for sockets to take their last bytes. */
  closeTimeoutMs: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

export const DEFAULT_LIMITS: Limits = {
  connectionsMax: 1024,
  requestsPerConnectionMax: 64,
  requestBytesMax: 256 * MIB,
  unsentBytesMax: 16 * MIB,
  transferBytesMax: 1 * MIB,
  directoryBytesMax: 256 * KIB,
  requestTimeoutMs: 30_000,
  replyTimeoutMs: 60_000,
  replayEntriesMax: 16_384,
  replayBytesMax: 8 * MIB,
  compoundOperationsMax: 64,
  clientsMax: 4096,
  sessionsPerClientMax: 16,
  slotsPerSessionMax: 64,
  cachedReplyBytesMax: 8 * KIB,
  cachedRepliesBytesMax: 64 * MIB,
  opensPerClientMax: 65_536,
  locksPerClientMax: 65_536,
  waitingLocksPerClientMax: 1024,
  mountEntriesMax: 4096,
  leaseMs: 60_000,
  graceMs: 75_000,
  closeTimeoutMs: 1_000,
};

/** A record that holds the largest WRITE with room for its other arguments. */
const OVERHEAD_BYTES = 64 * KIB;

export function recordBytesMax(limits: Limits): number {
  return limits.transferBytesMax + OVERHEAD_BYTES;
}
