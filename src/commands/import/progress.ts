import { truncateToWidth } from '../../platform/process/terminal-width.ts'
import type { ImportCounts, ImportEvent } from './import.ts'

const redrawMs = 100
const filesPerLine = 500

/** Writes plain lines, for logs and pipes: each skipped file, each notice, and a line every 500 files. */
export function openLineProgress(out: NodeJS.WritableStream) {
  return {
    show: (event: ImportEvent): void => {
      const remark = renderRemark(event)
      if (remark !== '') out.write(`${remark}\n`)
      if (event.counts.found % filesPerLine === 0) out.write(`${event.counts.found} files read\n`)
    },
    end: () => {}
  }
}

/** Draws a bar in a terminal, at most ten times a second; skipped files and notices scroll above it. */
export function openProgressBar(out: NodeJS.WriteStream, total: number) {
  const startedAt = performance.now()
  let drawnAt = 0
  return {
    show: (event: ImportEvent): void => {
      const now = performance.now()
      const remark = renderRemark(event)
      if (remark !== '') out.write(`\r\u001B[K${remark}\n`)
      if (remark === '' && now - drawnAt < redrawMs) return
      drawnAt = now
      const line = renderBar(event.counts, total, (now - startedAt) / 1_000, event.path)
      out.write(`\r\u001B[K${truncateToWidth(line, out.columns)}`)
    },
    /** Removes the bar. */
    end: (): void => {
      out.write('\r\u001B[K')
    }
  }
}

/** Renders `[#####-----]  50 %  5/10  20/s  current name`. */
export function renderBar(counts: ImportCounts, total: number, seconds: number, path: string): string {
  const share = total === 0 ? 1 : Math.min(1, counts.found / total)
  const bar = '#'.repeat(Math.floor(share * 20)).padEnd(20, '-')
  const percent = String(Math.floor(share * 100)).padStart(3)
  const rate = Math.round(counts.found / Math.max(seconds, 0.001))
  const name = escapeControls(path.split('/').at(-1) ?? path)
  return `[${bar}] ${percent} %  ${counts.found}/${total}  ${rate}/s  ${name}`
}

/** The line about a file that was skipped, or about which there is a notice; empty for others. */
function renderRemark({ path, skipReason, notice = '' }: ImportEvent): string {
  if (skipReason !== undefined) return `skipped ${escapeControls(path)}: ${escapeControls(skipReason)}`
  return notice === '' ? '' : `note ${escapeControls(path)}: ${escapeControls(notice)}`
}

/** Replaces what could control the terminal in a file name. */
function escapeControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, '?')
}
