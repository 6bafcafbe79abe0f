"""The Streamlit dashboard: the only room that imports streamlit or plotly.

figures/ draws results, sections/ says what each page shows, pages/ places it; controls lists the sliders, view is what
they say, sidebar draws them, page opens the run, cached keeps it; the rest serves jobs, uploads, exports and reports.
"""
