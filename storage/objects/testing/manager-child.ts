import { Rig, THREE_COPIES } from './rig.ts';

/** Puts objects until it is killed and says which ones are safe; adds drives on the way, so that there is much to move. */
const [folder = '', from = '0', drives = '3'] = process.argv.slice(2);
const rig = await Rig.open(folder, THREE_COPIES, Number(drives), { segmentGraceMs: 200, compactionMs: 100 });
for (let at = Number(from); ; at += 8) {
  const keys = Array.from({ length: 8 }, (_, offset) => `key-${at + offset}`);
  await Promise.all(keys.map((key) => rig.put(key, Buffer.from(`${key} `.repeat(200)))));
  if (at % 24 === 0) await rig.delete(`key-${at}`);
  process.send?.(keys.filter((key) => rig.objects.has(key)));
}
