import type { ReactiveControllerHost } from 'lit'
import * as v from 'valibot'

import { ask, type Question } from './ask.ts'
import { keyOfTab } from './key.ts'
import { asRefusal } from './refusal.ts'

/*
 * Nobody tells a key its rights, so each is found out by asking for something: what is read is one record at most, and
 * what would be changed is not there, which is said (404) only after the key was looked at (403). A key that may not see a
 * station gets 404 for its lists as well.
 */

type Questions = Readonly<Record<string, readonly [path: string, question?: Question]>>

const ofStation = {
  queue: ['queue?per_page=1'],
  reports: ['history?per_page=1'],
  hooks: ['webhooks?per_page=1'],
  streamers: ['streamers?per_page=1'],
  /** To skip, and to change the queue. */
  steering: ['queue/-/move', { method: 'PUT', body: {} }],
  /** To try web hooks. */
  telling: ['webhook/-/toggle', { method: 'PUT' }]
} as const satisfies Questions

const ofInstallation = {
  storage: ['api/admin/storage_locations?per_page=1'],
  /** To mark and to delete notifications. */
  settling: ['api/v1/main/notifications/-', { method: 'PUT', body: { is_read: true } }]
} as const satisfies Questions

export type StationRight = keyof typeof ofStation
export type InstallationRight = keyof typeof ofInstallation

const noRights: ReadonlySet<never> = new Set()
const againMs = 10_000

/** What the key may do; nothing until that is known. */
export interface Rights<Right> {
  readonly may: (right: Right) => boolean
  readonly isKnown: boolean
}

/** What the key may do at the station that is named at every drawing of the element. */
export const stationRightsFor = (host: ReactiveControllerHost, station: () => string): Rights<StationRight> =>
  rightsFor(host, ofStation, () => `api/station/${encodeURIComponent(station())}/`)

/** What the key may do beside stations. */
export const installationRightsFor = (host: ReactiveControllerHost): Rights<InstallationRight> =>
  rightsFor(host, ofInstallation, () => '')

function rightsFor(host: ReactiveControllerHost, questions: Questions, below: () => string): Rights<string> {
  let known: ReadonlySet<string> | null = null
  let prefix: string | null = null
  let timer: ReturnType<typeof setTimeout> | undefined

  async function learn(): Promise<void> {
    const asked = prefix ?? ''
    const found = await rightsAt(asked, questions).catch(() => null)
    if (asked !== prefix) return
    if (found === null) timer = setTimeout(() => void learn(), againMs)
    else known = found
    host.requestUpdate()
  }

  host.addController({
    hostUpdate: () => {
      if (prefix === below()) return
      prefix = below()
      known = null
      clearTimeout(timer)
      void learn()
    },
    hostDisconnected: () => clearTimeout(timer)
  })
  return {
    may: right => (known ?? noRights).has(right),
    get isKnown() {
      return known !== null
    }
  }
}

interface Learned {
  readonly atMs: number
  readonly rights: Promise<ReadonlySet<string>>
}

/** What was learned of keys, by key and place. */
const learned = new Map<string, Learned>()
const believedMs = 60_000

/** Asks once in a while, however many ask. Rejects where it could not be found out. */
function rightsAt(prefix: string, questions: Questions): Promise<ReadonlySet<string>> {
  const name = `${keyOfTab()} ${prefix}`
  const before = learned.get(name)
  if (before !== undefined && Date.now() - before.atMs < believedMs) return before.rights
  const rights = askRights(prefix, questions)
  learned.set(name, { atMs: Date.now(), rights })
  rights.catch(() => learned.delete(name))
  return rights
}

async function askRights(prefix: string, questions: Questions): Promise<ReadonlySet<string>> {
  const answers = await Promise.all(
    Object.entries(questions).map(async ([right, [path, question]]) => ({
      right,
      isRead: question === undefined,
      status: await statusOf(`${prefix}${path}`, question)
    }))
  )
  // Every station has these lists: for a key that may not see the station all is answered 404.
  if (answers.some(({ isRead, status }) => isRead && status === 404)) return noRights
  return new Set(answers.filter(({ status }) => status !== 403).map(({ right }) => right))
}

/** 200 for any success. Throws where no right can be told from the answer. */
async function statusOf(path: string, question?: Question): Promise<number> {
  try {
    await ask(v.unknown(), path, question)
    return 200
  } catch (error) {
    const { status } = asRefusal(error)
    if (status === 0 || status === 429 || status >= 500) throw error
    return status
  }
}
