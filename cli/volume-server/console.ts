import { createInterface } from 'node:readline';
import { print, type Terminal } from '../terminal.ts';
import type { ScratchVolume } from './scratch-volume.ts';

const HELP = 'status, fail N, return N, replace N, scrub, snapshot NAME, delete NAME, help';

/** Lines typed while the server runs: what happens to real drives, at a moment of one's choice. */
export function readCommands(terminal: Terminal, scratch: ScratchVolume): { close(): Promise<void> } {
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    obey(scratch, line.trim()).then(
      (answer) => print(terminal, answer),
      (error: unknown) => print(terminal, `Not done: ${error instanceof Error ? error.message : String(error)}`),
    );
  });
  return {
    close() {
      lines.close();
      return Promise.resolve();
    },
  };
}

export async function obey(scratch: ScratchVolume, line: string): Promise<string> {
  const [word = '', argument = ''] = line.split(/\s+/);
  switch (word) {
    case 'fail':
      scratch.failDrive(driveNamed(word, argument));
      return `Drive ${argument} no longer answers.`;
    case 'return':
      await scratch.returnDrive(driveNamed(word, argument));
      return `Drive ${argument} is back.`;
    case 'replace':
      return `Drive ${await scratch.replaceDrive(driveNamed(word, argument))} takes the place of ${argument}.`;
    case 'scrub': {
      await scratch.group.scrub();
      return `Scrubbed; ${scratch.group.state().mismatches} mismatches since the start.`;
    }
    case 'snapshot':
      await scratch.pool.snapshots.take(
        [{ volumeId: scratch.volume.id, id: snapshotNamed(word, argument) }],
        new Date(),
      );
      return `Snapshot ${argument} is taken.`;
    case 'delete':
      await scratch.pool.snapshots.delete(snapshotNamed(word, argument));
      return `Snapshot ${argument} is deleted.`;
    case 'status':
      return JSON.stringify(statusOf(scratch));
    default:
      return HELP;
  }
}

function driveNamed(word: string, argument: string): number {
  if (/^\d{1,6}$/.test(argument)) return Number(argument);
  throw new RangeError(`say which drive by its number: ${word} N`);
}

function snapshotNamed(word: string, argument: string): string {
  if (argument !== '') return argument;
  throw new RangeError(`say which snapshot by its name: ${word} NAME`);
}

function statusOf(scratch: ScratchVolume): object {
  const { status, progress, members, mismatches, dirtyRegions } = scratch.group.state();
  return {
    status,
    progress,
    members: members.map(({ driveId, state }) => ({ driveId, state })),
    mismatches,
    dirtyRegions,
    usage: scratch.pool.usage(),
    cache: scratch.pool.cacheStatistics(),
    volume: scratch.volume.statistics(),
  };
}
