import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostedConfiguration } from '@granary/kernel';
import { startServer } from '../load.ts';
import { atLeast, atMost, median, type Ratio } from '../ratio.ts';
import { ObjectsProcess, objectsConfiguration } from './array.ts';
import { Connection } from './connection.ts';
import { listedKey, type Filling } from './fill.ts';
import { S3Target, SwiftTarget, type Target } from './target.ts';

const IN_FLIGHT = 16;
const ROUNDS = 5;
const ROUND_MS = 1_500;
const WARM_UP_MS = 1_000;
const OBJECTS = Number(process.env['BENCH_OBJECTS'] ?? 1_000_000);
