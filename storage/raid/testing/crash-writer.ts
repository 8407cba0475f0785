import { FileDrive } from '../../drive/file-drive.ts';
import { BLOCK_BYTES } from '../../units.ts';
import { RaidGroup } from '../raid-group.ts';

/** Writes rounds of blocks, flushes each round and reports it, until it is killed. */
const [folder = '', memberCount = '2'] = process.argv.slice(2);
const drives = await Promise.all(
  Array.from({ length: Number(memberCount) }, (_, index) =>
    FileDrive.open({ id: `drive-${index}`, path: `${folder}/${index}` }),
  ),
);
const group = await RaidGroup.open({ drives });
const blocks = 64;
for (let round = 1; ; round += 1) {
  const block = Buffer.alloc(BLOCK_BYTES);
  block.writeUInt32LE(round, 0);
  await Promise.all(
    Array.from({ length: blocks }, async (_, index) => group.write(index * 37 * BLOCK_BYTES, Buffer.from(block))),
  );
  await group.flush();
  process.send?.(round);
}
