import { runProgram } from '@granary/kernel';
import { startArray } from './start.ts';

runProgram(startArray);
