import { PREPARE, runProgram } from '@granary/kernel';
import { startArray } from './start.ts';

// What a controller's thread loads when it becomes active is compiled beforehand, like all the rest.
if (process.argv[2] === PREPARE) await import('./engine/embedded/open-engine.ts');
runProgram(startArray);
