/** What of the OpenStack Object Storage API is served here, row by row, each with the test that shows it. */

export interface Row {
  /** The request, as the API's reference has it. */
  readonly operation: string;
  readonly what: string;
  readonly answer: 'served' | 'refused' | 'different';
  /** For what is not served as Swift does: what happens, and why. */
  readonly why?: string;
  /** `file › name`, below `protocols/swift`. */
  readonly test: string;
  /** The section of `/info` that claims it. */
  readonly info?: string;
}

export interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
}

function served(operation: string, what: string, test: string, info?: string): Row {
  return { operation, what, answer: 'served', test, ...(info === undefined ? {} : { info }) };
}

function refused(operation: string, what: string, why: string, test: string): Row {
  return { operation, what, answer: 'refused', why, test };
}

function different(operation: string, what: string, why: string, test: string): Row {
  return { operation, what, answer: 'different', why, test };
}

const NAMES = 'request/address.test.ts › NUL, broken UTF-8 and names that are too long are refused';
const BULK = 'bulk/bulk.test.ts › an archive becomes objects';
const COUNTED = 'objects/replies.test.ts › containers are listed with their policy, old versions are not counted';
const LISTED = 'containers/container.test.ts › objects are listed in every format and by every bound';
const CONTAINER =
  'containers/container.test.ts › a container is made once, keeps its policy and goes only when it is empty';
const VERSIONS = 'containers/container.test.ts › versions are kept, listed, read, restored and removed';
const LARGE =
  'large/large.test.ts › a manifest can be got, put again, copied as it is or as a whole, and deleted with its segments';
const REFUSED = 'conformance/refused.test.ts › what is not served is refused in words, and changes nothing';

export const SECTIONS: readonly Section[] = [
  {
    title: 'Discovery and sign-in',
    rows: [
      served(
        'GET /info',
        'limits, storage policies and what is switched on',
        'conformance/conformance.test.ts › every claim of /info has a row here, and its limits are those that hold',
        'swift',
      ),
      served('GET /healthcheck', 'OK', 'conformance/conformance.test.ts › discovery needs no token'),
      served(
        'GET /auth/v1.0',
        'a token for account:user and password',
        'access/access.test.ts › signing in gives a token and the address of the account',
      ),
      served(
        'POST /v3/auth/tokens',
        'Keystone v3 by password or token, with a catalogue',
        'access/access.test.ts › Keystone v3 gives a token with a catalogue',
      ),
      different(
        'any',
        'who owns an account',
        'its administrators; a `member` has what ACLs open',
        'access/account-acl.test.ts › a member of the account owns nothing of it: containers open by their ACLs',
      ),
    ],
  },
  {
    title: 'Accounts',
    rows: [
      served(
        'GET account',
        'containers by prefix, delimiter, marker, end_marker, reverse, limit; text, JSON, XML',
        'containers/container.test.ts › containers are listed with what they hold, and the account with all of it',
      ),
      served('GET account', 'storage_policy of each container; counts without old versions', COUNTED),
      served(
        'HEAD account',
        'counts, bytes, by policy; metadata',
        'objects/replies.test.ts › accounts and containers have a length of nothing where they have no body',
      ),
      served(
        'POST account',
        'X-Account-Meta-*, X-Remove-Account-Meta-*',
        'containers/container.test.ts › containers are listed with what they hold, and the account with all of it',
      ),
      served(
        'POST account',
        'X-Account-Access-Control',
        'access/account-acl.test.ts › an account ACL opens all of it to reading, to writing, or to administration',
        'tempauth',
      ),
      served(
        'POST account',
        'X-Account-Meta-Quota-Bytes, by operators',
        'access/account-acl.test.ts › a quota of an account is set by operators and holds for all its containers',
        'account_quotas',
      ),
      served(
        'POST account?bulk-delete',
        'objects and containers by a list',
        'bulk/bulk.test.ts › a list of names is deleted, and what could not be deleted is reported',
        'bulk_delete',
      ),
      served('PUT account?extract-archive', 'tar, tar.gz', BULK, 'bulk_upload'),
      served(
        'PUT account?extract-archive',
        'tar.bz2, where the machine has the program bzip2',
        'bulk/bulk.test.ts › an archive in bzip2 becomes objects',
      ),
      refused(
        'PUT, DELETE account',
        'making and deleting accounts',
        'accounts are the operator’s: the management interface makes and deletes them',
        'containers/container.test.ts › containers are listed with what they hold, and the account with all of it',
      ),
      refused(
        'POST account',
        'X-Account-Quota-*',
        'quotas of objects and by policy are not offered for accounts',
        REFUSED,
      ),
    ],
  },
  {
    title: 'Containers',
    rows: [
      served('PUT container', 'X-Storage-Policy; 201, 202 where it is there, 409 for another policy', CONTAINER),
      served('DELETE container', 'an empty one; 409 otherwise', CONTAINER),
      served(
        'GET container',
        'by prefix, delimiter, path, marker, end_marker, reverse, limit; text, JSON, XML',
        LISTED,
      ),
      served(
        'GET container',
        'Accept with qualities; 406 where nothing of it is offered',
        'objects/replies.test.ts › listings come as Accept wants them most, and are refused where nothing of it is offered',
      ),
      served(
        'GET container?versions',
        'every version with version_marker; JSON unless asked otherwise',
        VERSIONS,
        'object_versioning',
      ),
      served('HEAD container', 'counts without old versions, bytes with them', COUNTED),
      served(
        'POST container',
        'X-Container-Meta-*, X-Remove-Container-Meta-*',
        'containers/container.test.ts › metadata is added, replaced and removed within its limits',
      ),
      served(
        'POST container',
        'X-Container-Read, X-Container-Write',
        'access/access.test.ts › read ACLs open objects, and listings where they say so',
      ),
      different(
        'POST container',
        'names of accounts in ACLs',
        'the own account by name, others where addresses may have names; a name stands for the account that had it',
        'access/account-acl.test.ts › names of accounts in ACLs stand for the ids they had',
      ),
      served(
        'POST container',
        'X-Container-Meta-Quota-Bytes, -Quota-Count',
        'containers/container.test.ts › quotas of bytes and objects are kept',
        'container_quotas',
      ),
      served('POST container', 'X-Versions-Enabled', VERSIONS),
      served(
        'POST container',
        'X-Versions-Location, X-Remove-Versions-Location',
        'objects/legacy-versions.test.ts › X-Versions-Location keeps what is overwritten, and a deletion brings it back',
        'versioned_writes',
      ),
      served(
        'POST container',
        'X-History-Location, X-Remove-History-Location',
        'objects/legacy-versions.test.ts › X-History-Location keeps what is overwritten and deleted, with a marker of the deletion',
      ),
      served(
        'OPTIONS',
        'X-Container-Meta-Access-Control-*',
        'access/access.test.ts › pages of other origins are let in as the container says',
      ),
      refused(
        'POST container',
        'X-Container-Sync-To, X-Container-Sync-Key',
        'replication to other services is S3’s',
        REFUSED,
      ),
      refused('POST container', 'X-Container-Sharding', 'the index needs no shards', REFUSED),
      different(
        'GET container',
        'static web (X-Container-Meta-Web-*)',
        'kept as metadata; no pages are made, and /info does not claim it',
        REFUSED,
      ),
    ],
  },
  {
    title: 'Objects',
    rows: [
      served(
        'PUT object',
        'with Content-Length or in chunks; 411 with neither',
        'server.test.ts › without a length a PUT is refused',
      ),
      served('PUT object', 'ETag checked: 422', 'objects/object.test.ts › a wrong ETag is refused and changes nothing'),
      served('PUT object', 'If-None-Match: *', 'objects/object.test.ts › what a PUT needs is asked for'),
      served(
        'PUT, POST object',
        'metadata, Content-Type, X-Detect-Content-Type, Cache-Control, Content-Disposition, -Encoding, -Language, Expires',
        'objects/object.test.ts › headers and metadata are kept; POST replaces them and leaves the bytes',
      ),
      served(
        'PUT, POST object',
        'X-Delete-At, X-Delete-After',
        'objects/object.test.ts › an object is gone at the moment it expires',
      ),
      served(
        'PUT, POST object',
        'a time in the far future',
        'objects/replies.test.ts › a time of deletion in the far future is brought back to the last that is kept',
      ),
      served(
        'GET, HEAD object',
        'If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, If-Range',
        'objects/object.test.ts › conditions are checked before anything is sent',
      ),
      served(
        'GET, HEAD object',
        '412 and 304 with the ETag',
        'objects/replies.test.ts › a condition that does not hold is answered with the object as it is',
      ),
      served(
        'GET object',
        'Range, several of them; 416 with the ETag',
        'objects/object.test.ts › one range, several ranges and impossible ranges are answered as HTTP has it',
      ),
      served(
        'COPY, PUT X-Copy-From',
        'within and between accounts; X-Fresh-Metadata',
        'objects/object.test.ts › copies keep what the source has unless the request says otherwise',
      ),
      served('COPY, PUT X-Copy-From', 'Range', 'large/inline.test.ts › a copy takes a range, of a large object, too'),
      served('GET, HEAD, DELETE, PUT, COPY ?version-id', 'a version by its id', VERSIONS),
      served(
        'any ?version-id',
        '400 where the container has no versions',
        'objects/replies.test.ts › a version is asked for by an id, and where there are versions',
      ),
      served('any', 'names of 1,024 bytes in UTF-8; 412 for NUL and broken UTF-8', NAMES),
      served(
        'any',
        'bodies of errors',
        'objects/replies.test.ts › errors say what was wrong in plain text, what became of the request in a page',
      ),
    ],
  },
  {
    title: 'Large objects',
    rows: [
      served(
        'PUT ?multipart-manifest=put',
        'path, etag, size_bytes, range; heartbeat',
        'large/large.test.ts › a manifest is checked before it is kept',
        'slo',
      ),
      served(
        'PUT ?multipart-manifest=put',
        'data: bytes in the manifest',
        'large/inline.test.ts › a manifest carries bytes itself between ranges of its segments',
      ),
      served(
        'GET, HEAD',
        'whole, by ranges, nested',
        'large/large.test.ts › a static large object reads as its segments, whole, by ranges and nested',
      ),
      served(
        'GET, HEAD, COPY ?part-number',
        'one segment; X-Parts-Count',
        'large/inline.test.ts › a part of a large object is read, shown and copied by its number',
      ),
      served('GET ?multipart-manifest=get', 'the manifest, with format=raw to be put again', LARGE),
      served('DELETE ?multipart-manifest=delete', 'with its segments', LARGE),
      refused(
        'DELETE ?multipart-manifest=delete&async',
        'deletion afterwards',
        'segments go at once: leave async out',
        REFUSED,
      ),
      served(
        'X-Object-Manifest',
        'dynamic large objects',
        'large/large.test.ts › a dynamic large object reads as everything below its prefix',
        'dlo',
      ),
    ],
  },
  {
    title: 'Symlinks',
    rows: [
      served(
        'PUT X-Symlink-Target',
        'dynamic',
        'objects/symlink.test.ts › a dynamic symlink leads to whatever has the name; without a target it is not found',
        'symlink',
      ),
      served(
        'PUT X-Symlink-Target-Etag',
        'static',
        'objects/symlink.test.ts › a static symlink leads to the object it was made for, and to a conflict once that changed',
      ),
      served(
        'PUT X-Symlink-Target-Account',
        'into another account',
        'objects/symlink.test.ts › a symlink into another account opens only what that account opens',
      ),
      served(
        'GET, HEAD, COPY ?symlink=get',
        'the symlink itself',
        'objects/symlink.test.ts › a symlink is read as what it names, and by symlink=get as itself',
      ),
      served(
        'POST, DELETE',
        'the symlink; POST with 307',
        'objects/symlink.test.ts › a POST changes the symlink and says where the target is; a DELETE removes the symlink alone',
      ),
      different(
        'over S3',
        'a symlink',
        'an empty object: S3 has no symlinks',
        'objects/symlink.test.ts › a symlink is read as what it names, and by symlink=get as itself',
      ),
    ],
  },
  {
    title: 'Temporary addresses and forms',
    rows: [
      served(
        'temp_url_sig',
        'GET, HEAD, PUT, POST, DELETE; SHA-1, SHA-256, SHA-512',
        'access/temp-url.test.ts › a signature of any known form opens the address until it expires',
        'tempurl',
      ),
      served(
        'temp_url_prefix, temp_url_ip_range',
        'a prefix, addresses',
        'access/temp-url.test.ts › a prefix opens names that begin with it, a range the addresses in it',
      ),
      served(
        'POST multipart/form-data',
        'FormPOST with redirect, max_file_size, max_file_count, x_delete_at',
        'form/form-post.test.ts › a signed form puts its files behind the name of its address',
        'formpost',
      ),
      different(
        'temp_url_sig & version-id',
        'old versions',
        '401: the signature does not cover the version',
        'objects/versions.test.ts › a temporary URL opens the object it was signed for, not its versions',
      ),
    ],
  },
];
