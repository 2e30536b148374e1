import { type Finding, okFinding, problemFinding, warningFinding } from './finding.ts'
import type { ProcessesOfKind } from './running-processes.ts'

const kinds = ['server', 'workers']

/** Whether a server or workers process runs. */
export const isInstallationRunning = (processes: readonly ProcessesOfKind[]): boolean =>
  processes.some(({ ready }) => ready > 0)

/** Judges which processes run, whether some end during their start, and whether several releases run. */
export function checkProcesses(processes: readonly ProcessesOfKind[]): readonly Finding[] {
  const findings = judgeFailedStarts(processes)
  const versions = [...new Set(processes.flatMap(each => each.versions))].toSorted()
  if (versions.length > 1)
    findings.push(
      warningFinding(
        'processes',
        `several releases run: ${versions.join(', ')}`,
        'finish the upgrade: restart the processes of the older one (docs/upgrading.md)'
      )
    )
  const missing = kinds.filter(kind => !processes.some(each => each.kind === kind && each.ready > 0))
  const list = processes.filter(({ ready }) => ready > 0).map(describe)
  if (missing.length === 0) return [...findings, okFinding('processes', list.join(', '))]
  const absent = missing.map(kind => describeAbsent(kind, processes)).join(', ')
  if (list.length === 0)
    return [
      ...findings,
      warningFinding('processes', `nothing runs; ${absent}`, 'start npm run server and npm run workers')
    ]
  const message = `${list.join(', ')}; ${absent}`
  return [
    ...findings,
    missing.includes('workers')
      ? problemFinding(
          'processes',
          message,
          'start npm run workers: without it songs do not end and web hooks are not sent'
        )
      : warningFinding('processes', message, 'start npm run server')
  ]
}

const describe = ({ kind, ready, versions }: ProcessesOfKind) => `${ready} ${kind} (${versions.join(', ')})`

function describeAbsent(kind: string, processes: readonly ProcessesOfKind[]): string {
  const row = processes.find(each => each.kind === kind)
  if (row === undefined) return `no ${kind}`
  return row.starting > 0
    ? `no ${kind} (${row.starting} starting)`
    : `no ${kind} (last seen ${row.seenSecondsAgo} s ago)`
}

function judgeFailedStarts(processes: readonly ProcessesOfKind[]): Finding[] {
  return processes
    .filter(({ failedStarts }) => failedStarts > 1)
    .map(({ kind, failedStarts }) =>
      problemFinding(
        'processes',
        `${kind} started ${failedStarts} times in the last two minutes and ended before it was ready`,
        'its log says why (journalctl -u cuewire-*); the checks below may as well'
      )
    )
}
