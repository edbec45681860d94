// node .ci/reports.mjs failed|summary <report of jest --json> [<report of a second run of some files>]
import { readFileSync } from 'node:fs';

const [command, ...files] = process.argv.slice(2);
const runs = files
  .filter((file) => readFileSync(file, 'utf8') !== '')
  .map((file) => JSON.parse(readFileSync(file, 'utf8')));

/** The last result of each file. */
const results = [...new Map(runs.flatMap(({ testResults }) => testResults.map((file) => [file.name, file]))).values()];

const commands = {
  failed: () => results.flatMap(({ name, status }) => (status === 'failed' ? [`${name}\n`] : [])).join(''),
  summary() {
    const tests = results.flatMap(({ assertionResults }) => assertionResults);
    const count = (status) => tests.filter((test) => test.status === status).length;
    // A file that could not be loaded has no tests.
    const broken = results.filter(
      ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
    );
    return `${count('passed')} passed, ${count('failed') + broken.length} failed\n`;
  },
};
process.stdout.write(commands[command]());
