// `npm ci --ignore-scripts` leaves the machine's own Node in use: say so before a test fails in some odd way.
const major = Number(process.versions.node.split('.')[0]);
if (major < 26) {
  process.stderr.write(
    `Node ${process.versions.node} runs here, 26 or newer is needed: run npm ci without --ignore-scripts.\n`,
  );
  process.exit(1);
}
