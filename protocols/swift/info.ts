import type { ObjectStore } from '@granary/storage/object-store';
import { MAX_MANIFEST_BYTES } from '../objects/static-large-object.ts';
import { TEMP_URL_DIGESTS, TEMP_URL_METHODS } from './access/temp-url.ts';
import { MAX_DELETES } from './bulk/bulk-delete.ts';
import { LISTING_LIMIT } from './containers/page.ts';
import { MAX_SEGMENTS } from './large/manifest-request.ts';
import { SYMLINKS_MAX } from './objects/symlink.ts';
import { MAX_OBJECT_SIZE } from './objects/upload.ts';
import { MAX_CONTAINER_NAME, MAX_OBJECT_NAME } from './request/address.ts';
import { METADATA_LIMITS } from './request/metadata.ts';
import type { SwiftReply } from './request/request.ts';

/** `GET /info`: what clients may count on. */
export function showInfo(store: ObjectStore): SwiftReply {
  const { policies, defaultPolicy } = store;
  const info = {
    swift: {
      max_file_size: MAX_OBJECT_SIZE,
      max_object_name_length: MAX_OBJECT_NAME,
      max_container_name_length: MAX_CONTAINER_NAME,
      max_meta_count: METADATA_LIMITS.names,
      max_meta_name_length: METADATA_LIMITS.name,
      max_meta_value_length: METADATA_LIMITS.value,
      max_meta_overall_size: METADATA_LIMITS.all,
      container_listing_limit: LISTING_LIMIT,
      account_listing_limit: LISTING_LIMIT,
      allow_account_management: false,
      account_autocreate: false,
      strict_cors_mode: true,
      policies: policies.map((policy) => ({
        name: policy.name,
        aliases: policy.name,
        ...(policy.index === defaultPolicy ? { default: true } : {}),
      })),
    },
    slo: { max_manifest_segments: MAX_SEGMENTS, max_manifest_size: MAX_MANIFEST_BYTES, min_segment_size: 1 },
    dlo: {},
    symlink: { symloop_max: SYMLINKS_MAX, static_links: true },
    tempauth: { account_acls: true },
    formpost: { allowed_digests: TEMP_URL_DIGESTS },
    tempurl: { methods: TEMP_URL_METHODS, allowed_digests: TEMP_URL_DIGESTS },
    bulk_delete: { max_deletes_per_request: MAX_DELETES },
    bulk_upload: {},
    account_quotas: {},
    container_quotas: {},
    versioned_writes: { allowed_flags: ['x-versions-location', 'x-history-location'] },
    object_versioning: {},
  };
  return { status: 200, headers: { 'Content-Type': 'application/json; charset=utf-8' }, body: JSON.stringify(info) };
}
