export { builtConsole } from './build.ts';
