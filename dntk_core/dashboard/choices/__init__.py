"""What people move and choose, kept in the link: controls, the view they make, where sliders stop, tabs, picks."""
