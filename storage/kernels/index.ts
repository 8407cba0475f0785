export { allocate, clear, isInArena, release } from './arena.ts';
export { blocksMatch, checksum, checksumBlocks } from './checksum.ts';
export { encodeFragments, rebuildFragments } from './fragments.ts';
export { computeParity, recover, updateParity, xorInto } from './parity.ts';
export { Xts } from './xts.ts';
export { kernels, memoryBuffer, sharedKernels } from './instance.ts';
