import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { ended } from './programs.ts';

/** Kept between runs; too large for the tree's own node_modules. */
const FOLDER = join(tmpdir(), 'granary-aws-sdk');
/** They need each other in the same version, and the newest ones of all are not always out at the same time. */
const VERSION = '3.1140.0';
const PACKAGES = ['client-s3', 'lib-storage', 's3-request-presigner', 's3-presigned-post'];

interface S3Client {
  send(command: object): Promise<Reply>;
  destroy(): void;
}

/** Of all a reply may hold, what the test looks at. */
export interface Reply {
  readonly Body?: Readable & { transformToByteArray(): Promise<Uint8Array> };
  readonly ETag?: string;
  readonly Metadata?: Readonly<Record<string, string>>;
  readonly ContentLength?: number;
  readonly ChecksumCRC32?: string;
  readonly ChecksumSHA256?: string;
  readonly Contents?: readonly { readonly Key: string; readonly Size: number }[];
  readonly NextContinuationToken?: string;
  readonly Deleted?: readonly { readonly Key: string }[];
  readonly CopyObjectResult?: { readonly ETag: string };
}

type Made<T> = new (options: object) => T;
interface Upload {
  done(): Promise<Reply>;
}
interface PostForm {
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** `@aws-sdk/client-s3` and its companions, with the few signatures the test uses. */
export interface AwsSdk {
  client(options: object): S3Client;
  /** A command by its name without `Command`. */
  command(name: string, input: object): object;
  upload(options: object): Upload;
  presign(client: S3Client, command: object): Promise<string>;
  postForm(client: S3Client, options: object): Promise<PostForm>;
}

/** The reason to skip what needs the SDK, or `false`: it is installed from npm where that is possible. */
export async function skipWithoutAwsSdk(): Promise<string | false> {
  if (isThere()) return false;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'package.json'), '{ "private": true }');
  const names = PACKAGES.map((name) => `@aws-sdk/${name}@${VERSION}`);
  const env = definedOf(process.env);
  await ended('npm', ['install', '--no-audit', '--no-fund', ...names], { cwd: FOLDER, env });
  return isThere() ? false : '@aws-sdk/client-s3 could not be installed from npm';
}

export function awsSdk(): AwsSdk {
  const load = createRequire(join(FOLDER, 'package.json'));
  const s3 = load('@aws-sdk/client-s3') as Record<string, Made<object>> & { S3Client: Made<S3Client> };
  const { Upload } = load('@aws-sdk/lib-storage') as { Upload: Made<Upload> };
  const { getSignedUrl } = load('@aws-sdk/s3-request-presigner') as { getSignedUrl: AwsSdk['presign'] };
  const { createPresignedPost } = load('@aws-sdk/s3-presigned-post') as { createPresignedPost: AwsSdk['postForm'] };
  return {
    client: (options) => new s3.S3Client(options),
    command(name, input) {
      const Command = s3[`${name}Command`];
      if (!Command) throw new Error(`The SDK has no command ${name}`);
      return new Command(input);
    },
    upload: (options) => new Upload(options),
    presign: getSignedUrl,
    postForm: createPresignedPost,
  };
}

function isThere(): boolean {
  return PACKAGES.every((name) => existsSync(join(FOLDER, 'node_modules/@aws-sdk', name, 'package.json')));
}

export function definedOf(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}
