import { cutIntoBlocks } from '../drives/piece-body.ts';
import { PIECE_BLOCK_BYTES } from '../drives/record.ts';
import { allocate, clear, encodeFragments, release } from '../../kernels/index.ts';
import type { PolicyLayout } from '../records.ts';
import { stripeBytes } from './pieces.ts';

/** Blocks for each slot of a policy, from whole stripes and, at the end of a blob, a shorter one. */
interface SlotBlocks {
  /** By slot. Copies have one list for all. */
  readonly slots: readonly (readonly Buffer[])[];
  /** Frees the memory of the parities, once no write uses it. */
  readonly release: () => void;
}

/** Bytes a buffer needs so that its last stripe can be cut into fragments of one length. */
export function paddedBytes(bytes: number, policy: PolicyLayout): number {
  if (policy.copies > 0) return bytes;
  const stripe = stripeBytes(policy);
  const rest = bytes % stripe;
  return bytes - rest + Math.ceil(rest / policy.dataFragments) * policy.dataFragments;
}

/** `data` holds `bytes` and room for the padding behind them. */
export function blocksOfSlots(data: Buffer, bytes: number, policy: PolicyLayout): SlotBlocks {
  if (policy.copies > 0) {
    const blocks = cutIntoBlocks(data.subarray(0, bytes));
    return { slots: new Array<readonly Buffer[]>(policy.copies).fill(blocks), release: () => undefined };
  }
  clear(data, bytes, paddedBytes(bytes, policy));
  return fragmentsOf(data, paddedBytes(bytes, policy), policy);
}

function fragmentsOf(data: Buffer, bytes: number, policy: PolicyLayout): SlotBlocks {
  const { dataFragments: k, parityFragments: m } = policy;
  const slots = Array.from({ length: k + m }, (): Buffer[] => []);
  const parities: Buffer[] = [];
  const stripe = stripeBytes(policy);
  for (let from = 0; from < bytes; from += stripe) {
    const length = Math.min(PIECE_BLOCK_BYTES, (bytes - from) / k);
    const fragments: Buffer[] = [];
    for (let index = 0; index < k; index += 1) {
      fragments.push(data.subarray(from + index * length, from + (index + 1) * length));
    }
    const parity = Array.from({ length: m }, () => allocate(length));
    encodeFragments(fragments, parity);
    parities.push(...parity);
    [...fragments, ...parity].forEach((block, slot) => slots[slot]?.push(block));
  }
  return { slots, release: () => parities.forEach(release) };
}
