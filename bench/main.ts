import { describeMachine } from './machine.ts'

/** `npm run bench -- NAME` runs one bench; without a name it lists them. */
const benches: Record<string, { about: string; load: () => Promise<() => Promise<void>> }> = {
  playout: {
    about: 'how well tracks end on time, up to 10,000 stations (five minutes)',
    load: async () => (await import('./playout.ts')).playout
  },
  refill: {
    about: 'filling the queues of 1,000 stations whose libraries nobody knows yet',
    load: async () => (await import('./refill.ts')).refill
  },
  crud: {
    about: 'reading and writing records at 1,000 requests a second (k6)',
    load: async () => (await import('./crud.ts')).crud
  },
  get: {
    about: 'GET one station, and all of 1, 100 and 1,000, at a constant rate (k6)',
    load: async () => (await import('./get.ts')).get
  },
  push: {
    about: 'latency of changes at thousands of sockets (k6)',
    load: async () => (await import('./push.ts')).push
  },
  mixed: {
    about: 'polls, sockets and changes at once (k6)',
    load: async () => (await import('./mixed.ts')).mixed
  },
  autodj: {
    about: 'one choice of the AutoDJ among 10,000 tracks, and a simulated week',
    load: async () => (await import('./autodj.ts')).autodj
  },
  peers: {
    about:
      'side by side with nginx, uWebSockets.js, Nchan and Centrifugo; PARTS=get,push,memory; writes plots',
    load: async () => (await import('./peers.ts')).peers
  },
  hooks: {
    about: 'deliveries of web hooks per second, and receivers that hang; PARTS=rate,hang',
    load: async () => (await import('./hooks.ts')).hooks
  },
  polls: {
    about: 'asking the streaming servers of 1,000 stations, some of which are dead or hang; PARTS=good,bad',
    load: async () => (await import('./icecasts.ts')).polls
  },
  attack: {
    about: 'what operators and visitors notice of anonymous requests for a library of 50,000 songs',
    load: async () => (await import('./attack.ts')).attack
  },
  figures: {
    about: 'commit to frame, GET under push, 10,000 clients coming back; PARTS=commit,get,return',
    load: async () => (await import('./figures.ts')).figures
  }
}

const [name = ''] = process.argv.slice(2)
const bench = Object.hasOwn(benches, name) ? benches[name] : undefined
if (bench) {
  const run = await bench.load()
  const describeOthers = describeMachine(`npm run bench -- ${name}`)
  await run()
  describeOthers()
} else {
  const lines = Object.entries(benches).map(([each, { about }]) => `  ${each.padEnd(8)} ${about}`)
  console.error(['usage: npm run bench -- NAME', ...lines].join('\n'))
  process.exitCode = name === '' ? 0 : 2
}
