import { printMachine } from './machine.ts'

/** `npm run bench -- NAME` runs a benchmark; without a name it lists all of them. */
const benches: Record<string, { description: string; load: () => Promise<() => Promise<void>> }> = {
  playout: {
    description: 'lateness of song changes and CPU, up to 10,000 stations (eight minutes)',
    load: async () => (await import('./playout.ts')).playout
  },
  steps: {
    description:
      'CPU of a step at 200 a second, and the highest rate on time; PARTS=cost1000,cost10000,rate1000,rate10000',
    load: async () => (await import('./steps.ts')).steps
  },
  refill: {
    description: 'filling the queues of 1,000 stations, with and without cached libraries',
    load: async () => (await import('./refill.ts')).refill
  },
  counts: {
    description: 'reports of listeners: one by one, in lists, and at a constant rate; PARTS=single,list,rate',
    load: async () => (await import('./counts.ts')).counts
  },
  cold: {
    description: 'lateness after all workers were killed, with 2,000 stations of 1,000 tracks',
    load: async () => (await import('./cold.ts')).cold
  },
  cluster: {
    description:
      'a cluster in network namespaces: Redis, Postgres, servers and workers are killed and added (root)',
    load: async () => (await import('./cluster.ts')).cluster
  },
  crud: {
    description: 'reading and writing records at 1,000 requests a second (k6)',
    load: async () => (await import('./crud.ts')).crud
  },
  get: {
    description: 'GET one and all stations, with 1, 100 and 1,000 stations, at a constant rate (k6)',
    load: async () => (await import('./get.ts')).get
  },
  push: {
    description: 'latency of changes to thousands of sockets (k6)',
    load: async () => (await import('./push.ts')).push
  },
  crowd: {
    description: 'up to 95,000 sockets of one station on several server processes: idle cost, and a change',
    load: async () => (await import('./crowd.ts')).crowd
  },
  feed: {
    description: 'memory, CPU and the whole list of a server with 1,000, 10,000 and 100,000 stations',
    load: async () => (await import('./feed.ts')).feed
  },
  mixed: {
    description: 'polls, sockets and changes at once (k6)',
    load: async () => (await import('./mixed.ts')).mixed
  },
  peers: {
    description:
      'comparison with nginx, uWebSockets.js, Nchan and Centrifugo; PARTS=get,push,memory; writes plots',
    load: async () => (await import('./peers.ts')).peers
  },
  metrics: {
    description:
      'CPU with METRICS_PORT and without it, in alternating runs; PAIRS, BASELINE, PARTS=get,push,steps',
    load: async () => (await import('./metrics.ts')).metrics
  },
  hooks: {
    description: 'web hook deliveries per second, and hanging receivers; PARTS=rate,hang',
    load: async () => (await import('./hooks.ts')).hooks
  },
  polls: {
    description:
      'polls of the streaming servers of 1,000 stations, some of which are down or hang; PARTS=good,bad',
    load: async () => (await import('./icecasts.ts')).polls
  },
  uploads: {
    description:
      'uploads of 2,000 files of 5 MB with cut connections, during polls and pushes; FILES, MB, PARTS=disk,bucket',
    load: async () => (await import('./uploads/uploads.ts')).uploads
  },
  migrate: {
    description:
      'taking over an AzuraCast of 50 stations, 100,000 songs and 5,000,000 plays; STATIONS, SONGS, PLAYS',
    load: async () => (await import('./migrate.ts')).migrate
  },
  backup: {
    description: 'backup and restore of 1,000 stations that play, with 5,000,000 plays; STATIONS, PLAYS',
    load: async () => (await import('./backup.ts')).backup
  },
  attack: {
    description:
      'response times during anonymous requests for a library of 50,000 songs, and during the costliest bodies of each route; PARTS=requests,bodies, ROUTES',
    load: async () => (await import('./attack.ts')).attack
  },
  figures: {
    description: 'commit to frame, GET during push, 10,000 reconnecting clients; PARTS=commit,get,return',
    load: async () => (await import('./figures.ts')).figures
  }
}

const [name = ''] = process.argv.slice(2)
const bench = Object.hasOwn(benches, name) ? benches[name] : undefined
if (bench) {
  const run = await bench.load()
  const printOtherLoad = printMachine(`npm run bench -- ${name}`)
  await run()
  printOtherLoad()
} else {
  const lines = Object.entries(benches).map(([each, { description }]) => `  ${each.padEnd(8)} ${description}`)
  console.error(['usage: npm run bench -- NAME', ...lines].join('\n'))
  process.exitCode = name === '' ? 0 : 2
}
