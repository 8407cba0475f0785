import type { ObjectVersion } from '@granary/storage/object-store';
import { openStaticLargeObject } from '../../objects/static-large-object.ts';
import { openDynamicLargeObject } from '../large/dynamic.ts';
import type { Whole } from '../large/readable.ts';
import type { SwiftRequest } from '../request/request.ts';
import { shownEtag } from './attributes.ts';

/** Up to here bytes are read in one piece. */
const SMALL = 256 * 1024;

/** The bytes of one version, and nothing put together. */
export function plainObject(request: SwiftRequest, version: ObjectVersion): Whole {
  const { store } = request;
  return {
    size: version.size,
    etag: version.attributes.staticManifest === undefined ? shownEtag(version) : version.etag,
    read: async (range) => {
      if (range.end - range.start <= SMALL) return store.readWhole(version, range);
      return store.read(version, range);
    },
  };
}

export function openWhole(request: SwiftRequest, version: ObjectVersion): Whole | Promise<Whole> {
  const { store, now, access } = request;
  const { staticManifest, dynamicManifest } = version.attributes;
  if (staticManifest !== undefined) {
    const options = { now, mayRead: access.mayRead.bind(access) };
    return {
      size: staticManifest.size,
      etag: shownEtag(version),
      read: (range) => openStaticLargeObject(store, version, range, options),
    };
  }
  if (dynamicManifest !== undefined) return openDynamicLargeObject(request, dynamicManifest);
  return plainObject(request, version);
}
