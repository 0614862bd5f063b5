import { connect, type Socket } from 'node:net';
import { type CrowdOptions, type CrowdReport } from './crowd.ts';

/** Many connections that hold on to a server as long as it lets them, and come back when they are cut off; its parent asks by message. */
const options = JSON.parse(process.argv[2] ?? '{}') as CrowdOptions;
const url = new URL(options.url);
const DRIP_MS = 500;
/** Of this machine, each with some 28,000 ports of its own. */
const LOCAL_ADDRESSES = 50;

const HEAD = `POST ${url.pathname} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
const BODY_HEAD = `${HEAD}Content-Length: ${String(options.maxBytes)}\r\n\r\n`;
const UNSIGNED = `${HEAD}Content-Length: 2\r\n\r\n{}`;

/** How one of them begins, and what it says every half second. */
const MANNERS: readonly { readonly first: string; readonly drip: string; readonly reads?: false }[] = [
  { first: '', drip: '' },
  { first: HEAD, drip: 'X-Drip: x\r\n' },
  { first: BODY_HEAD, drip: ' ' },
  { first: UNSIGNED, drip: '' },
  { first: UNSIGNED.repeat(50), drip: UNSIGNED, reads: false },
];

let opened = 0;
let cut = 0;
let isEnding = false;
const open = new Map<Socket, string>();

function join(index: number): void {
  const manner = MANNERS[index % MANNERS.length] ?? { first: '', drip: '' };
  const localAddress = `127.0.1.${String(1 + (index % LOCAL_ADDRESSES))}`;
  const socket = connect({ host: url.hostname, port: Number(url.port), localAddress });
  socket.on('connect', () => {
    opened += 1;
    open.set(socket, manner.drip);
    if (manner.first !== '') socket.write(manner.first);
    if (manner.reads === false) socket.pause();
    else socket.resume();
  });
  socket.on('error', () => {});
  socket.on('end', () => socket.destroy());
  socket.on('close', () => {
    if (open.delete(socket)) cut += 1;
    if (!isEnding)
      setTimeout(() => {
        join(index);
      }, options.comeBackMs);
  });
}

process.once('disconnect', () => process.exit(0));
process.on('message', () => {
  const report: CrowdReport = { open: open.size, opened, cut };
  process.send?.(report);
});
setInterval(() => {
  for (const [socket, drip] of open) if (drip !== '' && socket.writable) socket.write(drip);
}, DRIP_MS);
process.once('SIGTERM', () => {
  isEnding = true;
  process.exit(0);
});
// Not all in one turn: connecting is work for the server, too.
for (let index = 0; index < options.sockets; index += 1) {
  join(index);
  if (index % 100 === 99) await new Promise((resolve) => setTimeout(resolve, 10));
}
