import path from 'node:path';
import { randomFrom } from '../../testing/random.ts';
import { FileDrive } from '../drive/file-drive.ts';
import type { Drive } from '../drive/drive.ts';
import { RaidGroup } from '../raid/index.ts';

const MIB = 1024 * 1024;

/** What a seed decides about a crash test besides its story. */
export interface Scene {
  readonly level: 'RAID1' | 'RAID6';
  readonly drives: number;
  readonly stripeBytes: number;
  /** Members that are missing before the story begins. */
  readonly missing: number;
  readonly options: object;
  readonly isReduced: boolean;
}

export function sceneOf(seed: number): Scene {
  const random = randomFrom(seed * 31 + 7);
  const under = (limit: number): number => Math.floor(random() * limit);
  const level = under(2) === 0 ? 'RAID1' : 'RAID6';
  const drives = level === 'RAID1' ? 2 + under(2) : 4 + under(4);
  const missing = under(3) === 0 ? 1 + under(level === 'RAID1' ? drives - 1 : 2) : 0;
  const isReduced = under(4) === 0;
  const options = isReduced ? { options: { compression: under(2) === 0, deduplication: true } } : {};
  return { level, drives, stripeBytes: [4, 16, 64][under(3)]! * 1024, missing, options, isReduced };
}

export async function openDrives(folder: string, { level, drives }: Scene): Promise<FileDrive[]> {
  const sizeBytes = (level === 'RAID1' ? 96 : 48) * MIB;
  const opening = Array.from({ length: drives }, (_, index) => {
    return FileDrive.open({ id: `drive-${index}`, path: path.join(folder, `drive-${index}`), sizeBytes });
  });
  return Promise.all(opening);
}

export function createGroup(scene: Scene, members: readonly Drive[]): Promise<RaidGroup> {
  const { level, stripeBytes } = scene;
  return RaidGroup.create({ id: 'group', level, stripeBytes, members });
}
