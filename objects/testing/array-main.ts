import type { HostedConfiguration } from '@granary/kernel';
import { testHost } from '../../kernel/process/testing/configuration.ts';
import { startObjects } from '../start.ts';

/** An array in a process of its own, for tests that kill it. Its configuration comes as JSON. */
await startObjects(JSON.parse(process.argv[2] ?? '') as HostedConfiguration, testHost);
process.stdout.write('ready\n');
