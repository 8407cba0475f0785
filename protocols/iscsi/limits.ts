export interface Limits {
  /** Open sockets, logged in or not. */
  connectionsMax: number;
  sessionsPerTargetMax: number;
  targetsMax: number;
  lunsPerTargetMax: number;
  /** Commands a session may have under way. */
  queueDepth: number;
  immediateCommandsMax: number;
  /** What may wait for a command that should have come before it; more ends the session. */
  earlyBytesMax: number;
  /** The most one READ or WRITE moves. */
  transferBytesMax: number;
  /** Data on its way to one initiator; further reads wait. */
  readBytesMax: number;
  /** Data asked from one initiator; further requests for data wait. */
  writeBytesMax: number;
  /** Unsent bytes at which we stop listening to an initiator that does not listen to us. */
  unsentBytesMax: number;
  dataSegmentBytesMax: number;
  burstBytesMax: number;
  firstBurstBytesMax: number;
  outstandingR2tMax: number;
  loginTimeoutMs: number;
  loginTextBytesMax: number;
  loginExchangesMax: number;
  /** After so long a silence the initiator is asked whether it is there. */
  pingAfterMs: number;
  pingTimeoutMs: number;
  /** How long `close` waits for sockets to take their last bytes. */
  closeTimeoutMs: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

export const DEFAULT_LIMITS: Limits = {
  connectionsMax: 256,
  sessionsPerTargetMax: 64,
  targetsMax: 4096,
  lunsPerTargetMax: 1024,
  queueDepth: 128,
  immediateCommandsMax: 16,
  earlyBytesMax: 4 * MIB,
  transferBytesMax: 4 * MIB,
  readBytesMax: 16 * MIB,
  writeBytesMax: 32 * MIB,
  unsentBytesMax: 16 * MIB,
  dataSegmentBytesMax: 256 * KIB,
  burstBytesMax: 1 * MIB,
  firstBurstBytesMax: 256 * KIB,
  outstandingR2tMax: 4,
  loginTimeoutMs: 15_000,
  loginTextBytesMax: 64 * KIB,
  loginExchangesMax: 32,
  pingAfterMs: 15_000,
  pingTimeoutMs: 15_000,
  closeTimeoutMs: 1_000,
};
