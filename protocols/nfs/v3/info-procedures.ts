import type { Procedure3 } from './procedure.ts';

/** Hard links, symbolic links, all files alike, times can be set. */
const PROPERTIES = 0x01 | 0x02 | 0x08 | 0x10;
const BLOCK_BYTES = 4096;

export const filesystemSpace: Procedure3 = {
  name: 'FSSTAT',
  onFailure: ['attributes'],
  async run(request) {
    const place = await request.place(request.handleArgument());
    const space = await place.filesystem.space();
    request.ok();
    await request.currentAttributes(place);
    const { totalBytes, freeBytes, availableBytes, totalFiles, freeFiles } = space;
    request.reply.size(totalBytes).size(freeBytes).size(availableBytes);
    request.reply.size(totalFiles).size(freeFiles).size(freeFiles).u32(0);
  },
};

export const filesystemInfo: Procedure3 = {
  name: 'FSINFO',
  onFailure: ['attributes'],
  async run(request) {
    const place = await request.place(request.handleArgument());
    const { limits } = request.server;
    await place.filesystem.attributes(place.file);
    request.ok();
    await request.currentAttributes(place);
    const transfer = limits.transferBytesMax;
    for (let direction = 0; direction < 2; direction++) request.reply.u32(transfer).u32(transfer).u32(BLOCK_BYTES);
    request.reply.u32(limits.directoryBytesMax).size(place.filesystem.limits.fileBytesMax);
    // Times are exact to a nanosecond.
    request.reply.u32(0).u32(1).u32(PROPERTIES);
  },
};

export const pathLimits: Procedure3 = {
  name: 'PATHCONF',
  onFailure: ['attributes'],
  async run(request) {
    const place = await request.place(request.handleArgument());
    const { linksMax, nameBytesMax } = place.filesystem.limits;
    await place.filesystem.attributes(place.file);
    request.ok();
    await request.currentAttributes(place);
    // Names too long are refused, owners cannot be given away, upper and lower case differ and are kept.
    request.reply.u32(linksMax).u32(nameBytesMax).bool(true).bool(true).bool(false).bool(true);
  },
};
