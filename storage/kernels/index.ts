export { allocate, isInArena, release } from './arena.ts';
export { blocksMatch, checksumBlocks } from './checksum.ts';
export { computeParity, recover, updateParity, xorInto } from './parity.ts';
export { Xts } from './xts.ts';
