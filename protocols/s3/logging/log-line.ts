/** What a line says of a request. Null is a field without a value. */
export interface LoggedRequest {
  readonly owner: string;
  readonly bucket: string;
  /** Milliseconds since 1970, when it came. */
  readonly at: number;
  readonly ip: string;
  /** Id of the user; null for anonymous ones. */
  readonly requester: string | null;
  readonly requestId: string;
  readonly operation: string;
  readonly key: string | null;
  /** `GET /photos/beach.jpg?versionId=… HTTP/1.1` */
  readonly requestLine: string | null;
  readonly status: number | null;
  readonly errorCode: string | null;
  readonly bytesSent: number;
  readonly objectSize: number | null;
  readonly totalMs: number | null;
  readonly turnAroundMs: number | null;
  readonly referer: string | null;
  readonly userAgent: string | null;
  readonly versionId: string | null;
  readonly hostId: string;
  readonly signature: 'SigV2' | 'SigV4' | null;
  readonly cipher: string | null;
  readonly authentication: 'AuthHeader' | 'QueryString' | 'POST' | null;
  readonly host: string | null;
  readonly tls: string | null;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** One line of a server access log, in the fields and the order that S3 has; without the line's end. */
export function logLine(request: LoggedRequest): string {
  const { bytesSent, objectSize, totalMs, turnAroundMs } = request;
  return [
    request.owner,
    request.bucket,
    timeText(request.at),
    plain(request.ip),
    plain(request.requester),
    plain(request.requestId),
    plain(request.operation),
    request.key === null ? '-' : encodedKey(request.key),
    quoted(request.requestLine),
    request.status ?? '-',
    plain(request.errorCode),
    bytesSent === 0 ? '-' : bytesSent,
    objectSize ?? '-',
    totalMs === null ? '-' : Math.round(totalMs),
    turnAroundMs === null ? '-' : Math.round(turnAroundMs),
    quoted(request.referer),
    quoted(request.userAgent),
    plain(request.versionId),
    plain(request.hostId),
    plain(request.signature),
    plain(request.cipher),
    plain(request.authentication),
    plain(request.host),
    plain(request.tls),
    // Access points do not exist here, and no answer says whether an ACL was what let a request in.
    '-',
    '-',
  ].join(' ');
}

/** `[06/Feb/2026:00:00:38 +0000]` */
function timeText(at: number): string {
  const time = new Date(at);
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${two(time.getUTCDate())}/${MONTHS[time.getUTCMonth()]}/${time.getUTCFullYear()}`;
  return `[${day}:${two(time.getUTCHours())}:${two(time.getUTCMinutes())}:${two(time.getUTCSeconds())} +0000]`;
}

/** A field without quotes must not hold what separates fields. */
function plain(value: string | null): string {
  if (value === null || value === '') return '-';
  return value.replaceAll(/[\s"\u0000-\u001f\u007f]/g, (each) => encodeURIComponent(each));
}

function quoted(value: string | null): string {
  if (value === null || value === '') return '"-"';
  return `"${value.replaceAll(/["\\\u0000-\u001f\u007f]/g, (each) => encodeURIComponent(each))}"`;
}

function encodedKey(key: string): string {
  return encodeURIComponent(key).replaceAll('%2F', '/') || '-';
}
