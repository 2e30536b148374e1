import { WriteStream } from 'node:tty'

import { truncateToWidth } from './terminal-width.ts'

const redrawMs = 100
/** Rows of a table per line, without a terminal. */
const rowsPerLine = 500_000
/** A table that is read slowly has a line this often, without a terminal. */
const lineMs = 10_000

/** Shows the progress of phases: a bar in a terminal, else lines. */
export function openPhaseProgress(out: NodeJS.WritableStream) {
  const terminal = out instanceof WriteStream ? out : null
  let phase = ''
  let drawnAt = 0
  let printedRows = 0
  let printedAt = performance.now()
  const draw = (name: string, share: number, note: string) => {
    if (name !== phase) {
      phase = name
      drawnAt = 0
      printedRows = 0
      printedAt = performance.now()
      if (!terminal && note === '') out.write(`${name}\n`)
    }
    const now = performance.now()
    if (!terminal || now - drawnAt < redrawMs) return
    drawnAt = now
    terminal.write(`\r\u001B[K${truncateToWidth(renderShare(share, name, note), terminal.columns)}`)
  }
  return {
    /** Shows the share of a phase that is done, from 0 to 1. */
    share: (name: string, share: number): void => draw(name, share, ''),
    /** Shows how many rows of a table were read. */
    rows: (name: string, rows: number, total: number): void => {
      draw(name, total === 0 ? 1 : rows / total, `${rows}/${total}`)
      const isDue = rows - printedRows >= rowsPerLine || performance.now() - printedAt >= lineMs
      if (terminal || !isDue) return
      printedRows = rows
      printedAt = performance.now()
      out.write(`${name}: ${rows} of ${total} rows\n`)
    },
    /** Removes the bar. */
    end: (): void => {
      if (terminal) terminal.write('\r\u001B[K')
    }
  }
}

/** Renders `[#####-----]  50 %  song_history  5/10`. */
function renderShare(share: number, name: string, note: string): string {
  const part = Math.min(Math.max(share, 0), 1)
  const bar = '#'.repeat(Math.floor(part * 20)).padEnd(20, '-')
  return `[${bar}] ${String(Math.floor(part * 100)).padStart(3)} %  ${name}  ${note}`.trimEnd()
}
