/** The documents that are sent. Replies are read in `replies.ts`. */

import { numberProblem } from '../../parts/typed-number.ts';

export const XMLNS = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';

export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replace(/[\u0000-\u001f]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

export interface Victim {
  readonly key: string;
  readonly versionId?: string | undefined;
}

export function deleteDocument(victims: readonly Victim[]): string {
  const objects = victims.map(({ key, versionId }) => {
    const version = versionId === undefined ? '' : `<VersionId>${escapeXml(versionId)}</VersionId>`;
    return `<Object><Key>${escapeXml(key)}</Key>${version}</Object>`;
  });
  return `<Delete ${XMLNS}>${objects.join('')}</Delete>`;
}

export function completeDocument(parts: readonly { readonly number: number; readonly etag: string }[]): string {
  const inOrder = [...parts].sort((a, b) => a.number - b.number);
  const each = inOrder.map(
    ({ number, etag }) => `<Part><PartNumber>${number}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload ${XMLNS}>${each.join('')}</CompleteMultipartUpload>`;
}

export function versioningDocument(isOn: boolean): string {
  return `<VersioningConfiguration ${XMLNS}><Status>${isOn ? 'Enabled' : 'Suspended'}</Status></VersioningConfiguration>`;
}

/** The most that S3 takes. */
export const DAYS_MAX = 2 ** 31 - 1;

export interface LifecycleRule {
  readonly id: string;
  readonly isOn: boolean;
  readonly prefix: string;
  /** Days after which objects go. */
  readonly expireDays?: number | undefined;
  /** Days after which versions go that others took the place of. */
  readonly oldVersionDays?: number | undefined;
  /** Delete markers go that have no version below them. */
  readonly dropsMarkers?: boolean | undefined;
  /** Days after which unfinished uploads go. */
  readonly uploadDays?: number | undefined;
}

/** Indented, because people read and change it. */
export function lifecycleDocument(rules: readonly LifecycleRule[]): string {
  return `<LifecycleConfiguration ${XMLNS}>\n${rules.map(ruleDocument).join('')}</LifecycleConfiguration>`;
}

function ruleDocument(rule: LifecycleRule): string {
  const lines = [
    `<ID>${escapeXml(rule.id)}</ID>`,
    `<Filter><Prefix>${escapeXml(rule.prefix)}</Prefix></Filter>`,
    `<Status>${rule.isOn ? 'Enabled' : 'Disabled'}</Status>`,
    ...(rule.expireDays === undefined ? [] : [`<Expiration><Days>${rule.expireDays}</Days></Expiration>`]),
    ...(rule.dropsMarkers && rule.expireDays === undefined
      ? ['<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>']
      : []),
    ...(rule.oldVersionDays === undefined
      ? []
      : [
          `<NoncurrentVersionExpiration><NoncurrentDays>${rule.oldVersionDays}</NoncurrentDays></NoncurrentVersionExpiration>`,
        ]),
    ...(rule.uploadDays === undefined
      ? []
      : [
          `<AbortIncompleteMultipartUpload><DaysAfterInitiation>${rule.uploadDays}</DaysAfterInitiation></AbortIncompleteMultipartUpload>`,
        ]),
  ];
  return `  <Rule>\n${lines.map((line) => `    ${line}\n`).join('')}  </Rule>\n`;
}

/** Says what is wrong with a rule; undefined: nothing. */
/** Each field of days says itself what is wrong with it. */
export function areDaysWrong({ expireDays, oldVersionDays, uploadDays }: LifecycleRule): boolean {
  const range = { min: 1, max: DAYS_MAX };
  return [expireDays, oldVersionDays, uploadDays].some((value) => numberProblem(value, range) !== undefined);
}

export function ruleProblem(rule: LifecycleRule): string | undefined {
  const days = [rule.expireDays, rule.oldVersionDays, rule.uploadDays].filter((value) => value !== undefined);
  if (days.length === 0 && !rule.dropsMarkers) return 'Choose at least one thing that the rule does.';
  if (areDaysWrong(rule)) return `Days are whole numbers from 1 to ${DAYS_MAX}.`;
  if (rule.dropsMarkers && rule.expireDays !== undefined)
    return 'Expiry of objects removes delete markers without versions by itself; a rule has one of the two.';
  return undefined;
}
