import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { CloudIssuerFiles, Issuer } from '@granary/kernel';
import { skipWithout } from '@granary/protocols/iscsi/testing';
import { temporaryFolder } from '../../testing/folders.ts';
import { testObjects } from '../testing/test-objects.ts';

/** Goal: a real client reaches the data port by the authority of the installation alone. */
const DATA_PORT = 8080;
const now = Date.now();
const authority = Issuer.createAuthority('Authority of the installation', now).issuer;
const run = promisify(execFile);
const skip = await skipWithout('awscli');

test('awscli reaches S3 by the authority of --ca-bundle, and not without it', { skip }, async (t) => {
  const folder = temporaryFolder(t);
  const objects = await testObjects(t);
  const { s3 } = await objects.user(await objects.account('acme'), 'ada', 'account_admin');
  // TLS is turned on later: the data port follows.
  const { host } = objects.configuration.management;
  const issuer = new CloudIssuerFiles(temporaryFolder(t)).ensure(authority, now);
  await objects.restart({ tls: issuer.issue({ role: 'array', id: 'a', hosts: [host], use: 'server', now }) });
  const [ca, file] = [join(folder, 'ca.crt'), join(folder, 'file')];
  writeFileSync(ca, authority.certificate);
  writeFileSync(file, 'kept');
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    AWS_ACCESS_KEY_ID: s3.access,
    AWS_SECRET_ACCESS_KEY: s3.secret,
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_MAX_ATTEMPTS: '1',
  };
  const aws = (...args: string[]) =>
    run('aws', ['--endpoint-url', `https://${host}:${DATA_PORT}`, ...args], { env, timeout: 600_000 });
  await aws('--ca-bundle', ca, 's3', 'mb', 's3://books');
  await aws('--ca-bundle', ca, 's3', 'cp', file, 's3://books/file');
  await assert.rejects(aws('s3', 'ls', 's3://books'), /SSL validation failed|CERTIFICATE_VERIFY_FAILED/);
});
