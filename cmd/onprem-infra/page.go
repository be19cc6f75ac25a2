package main

import (
	"bytes"

	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
)

// htmlForm is the format of pages.
const htmlForm = "html"

// page writes a page of pictures.
func (w *writing) page(page timeline.Page) error {
	var text bytes.Buffer
	if err := page.Write(&text); err != nil {
		return err
	}
	return w.document(text.Bytes(), timeline.IsPage)
}

// unmarked is for outputs that nothing marks as ours: no file that is there is taken for one.
func unmarked([]byte) bool { return false }
