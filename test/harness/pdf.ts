// Writes a small PDF with the given lines on each page.

export function pdfOf(pages: readonly (readonly string[])[], title = ""): Buffer {
  const objects: string[] = [];
  const add = (body: string): number => objects.push(body);
  const font = 3;
  const kids = pages.map((_, at) => `${4 + at * 2} 0 R`).join(" ");
  add("<< /Type /Catalog /Pages 2 0 R >>");
  add(`<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`);
  add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
  for (const [at, lines] of pages.entries()) {
    const text = lines
      .map((line, row) => `BT /F1 12 Tf 50 ${750 - row * 16} Td (${line.replaceAll(/[()\\]/g, "\\$&")}) Tj ET`)
      .join("\n");
    add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + at * 2} 0 R /Resources << /Font << /F1 ${font} 0 R >> >> >>`,
    );
    add(`<< /Length ${text.length} >>\nstream\n${text}\nendstream`);
  }
  const info = add(`<< /Title (${title}) >>`);
  let file = "%PDF-1.4\n";
  const offsets = objects.map((body, at) => {
    const offset = file.length;
    file += `${at + 1} 0 obj\n${body}\nendobj\n`;
    return offset;
  });
  const start = file.length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`;
  file += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info ${info} 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(file, "latin1");
}
