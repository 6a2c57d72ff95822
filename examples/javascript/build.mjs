// Makes reply-hint.wasm of reply-hint.mjs: node build.mjs [FILE.wasm] [FOLDER OF THE WIT]
import { writeFile } from 'node:fs/promises';
import { componentize } from '@bytecodealliance/componentize-js';

const [output = 'reply-hint.wasm', witPath = 'wit'] = process.argv.slice(2);
const { component } = await componentize({
  sourcePath: 'reply-hint.mjs',
  witPath,
  worldName: 'extension',
  // `stdio` imports files, the last two the network: that is refused. With `clocks`, asking for the time would end the call.
  disableFeatures: ['stdio', 'clocks', 'http', 'fetch-event'],
});
await writeFile(output, component);
console.log(`${output}: ${component.length} bytes`);
