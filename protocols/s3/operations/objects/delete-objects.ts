import { setImmediate as breathe } from 'node:timers/promises';
import type { Conditions } from '@granary/storage/object-store';
import { checkKey } from '../../address.ts';
import { CHECKSUM_HEADERS } from '../../checksums/checksums.ts';
import { S3Error, toS3Error } from '../../errors.ts';
import { causeOf, type KeyOutcome, type S3Operation, type S3Reply, type S3Request } from '../../request.ts';
import { element, field } from '../../xml.ts';
import { readXmlWithin, type XmlElement } from '../../xml-reader.ts';
import { bytesGone, deleteConditions } from './delete-object.ts';
import { bypasses } from './lock.ts';
import { xmlReply } from '../replies.ts';

const MOST_KEYS = 1000;
const KEYS_A_TURN = 25;
/** Every key at its longest, with a version and all conditions. */
const DOCUMENT = { lengthMax: 2 * 2 ** 20, elementsMax: 8_000, depthMax: 4 };

interface Victim {
  readonly key: string;
  readonly versionId: string | undefined;
  readonly conditions: Conditions | undefined;
}

interface Outcome {
  readonly xml: string;
  readonly failed: boolean;
  readonly bytes: number;
  readonly logged: KeyOutcome;
}

/** Each key is on its own: what is refused of one does not keep the others. */
export const deleteObjects: S3Operation = {
  name: 'DeleteObjects',
  class: 'delete',
  subject: 'bucket',
  action: 's3:DeleteObject',
  changes: true,
  selfChecked: true,
  async run(request) {
    demandDigest(request);
    const root = readXmlWithin(DOCUMENT, await request.body.text(DOCUMENT.lengthMax), 'Delete');
    root.only('Object', 'Quiet');
    const victims = root.all('Object').map(victimOf);
    if (victims.length === 0 || victims.length > MOST_KEYS) {
      throw new S3Error('MalformedXML', `<Delete> names 1 to ${MOST_KEYS} objects.`);
    }
    const quiet = root.text('Quiet')?.trim().toLowerCase() === 'true';
    // A policy may take a while for each; without one they share a commit.
    const isSlow = request.bucket.settings.policy !== undefined;
    const outcomes: Promise<Outcome>[] = [];
    for (const victim of victims) {
      outcomes.push(remove(request, victim));
      if (isSlow && outcomes.length % KEYS_A_TURN === 0) await breathe();
    }
    return replyOf(await Promise.all(outcomes), quiet);
  },
};

function replyOf(outcomes: readonly Outcome[], quiet: boolean): S3Reply {
  const results = quiet ? outcomes.filter(({ failed }) => failed) : outcomes;
  const reply = xmlReply('DeleteResult', results.map(({ xml }) => xml).join(''));
  const bytesDeleted = outcomes.reduce((sum, { bytes }) => sum + bytes, 0);
  return { ...reply, bytesDeleted, outcomes: outcomes.map(({ logged }) => logged) };
}

/** A list of what to delete must have come through unharmed. */
function demandDigest(request: S3Request): void {
  const names = ['content-md5', 'x-amz-trailer', ...Object.keys(CHECKSUM_HEADERS)];
  if (names.some((name) => request.header(name) !== undefined)) return;
  throw new S3Error('InvalidRequest', 'Missing required header for this request: Content-MD5 OR x-amz-checksum-*');
}

function victimOf(object: XmlElement): Victim {
  object.only('Key', 'VersionId', 'ETag', 'Size', 'LastModifiedTime');
  const [etag, size, time] = ['ETag', 'Size', 'LastModifiedTime'].map((name) => object.text(name)?.trim());
  const conditions =
    deleteConditions({ etag, size, time }, () => {
      throw new S3Error('MalformedXML', '<Size> is a number of bytes, <LastModifiedTime> a time.');
    }) ?? {};
  if (object.need('Key') === '') throw new S3Error('MalformedXML', '<Key> must not be empty.');
  const versionId = object.text('VersionId');
  return {
    key: object.need('Key'),
    versionId: versionId === '' ? undefined : versionId,
    conditions: Object.keys(conditions).length === 0 ? undefined : conditions,
  };
}

async function remove(request: S3Request, { key, versionId, conditions }: Victim): Promise<Outcome> {
  const { bucket, context, now } = request;
  try {
    checkKey(key);
    request.demand(versionId === undefined ? 's3:DeleteObject' : 's3:DeleteObjectVersion', key, { versionId });
    const result = await context.store.commit('deleteObject', {
      bucket: bucket.id,
      key,
      ...(versionId !== undefined && { versionId }),
      ...(conditions !== undefined && { conditions }),
      bypassGovernance: bypasses(request, key, { versionId }),
      cause: causeOf(request),
      at: now,
    });
    const xml =
      field('Key', key) +
      field('VersionId', versionId) +
      (result.marker === null
        ? ''
        : field('DeleteMarker', true) + field('DeleteMarkerVersionId', result.marker.versionId));
    const logged = { key, versionId, status: 204, code: null, size: result.removed?.size ?? 0 };
    return { xml: element('Deleted', xml), failed: false, bytes: bytesGone(result, versionId !== undefined), logged };
  } catch (error) {
    const { status, code, message } = failureOf(request, error);
    const xml = field('Key', key) + field('VersionId', versionId) + field('Code', code) + field('Message', message);
    const logged = { key, versionId, status, code, size: 0 };
    return { xml: element('Error', xml), failed: true, bytes: 0, logged };
  }
}

function failureOf(request: S3Request, error: unknown): S3Error {
  const known = toS3Error(error);
  if (known === undefined) request.context.onError(error, request.requestId);
  return known ?? new S3Error('InternalError');
}
